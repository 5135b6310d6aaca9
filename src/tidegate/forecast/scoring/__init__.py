"""What a run adds up of its forecasts: errors, coverage, alarms, errors further ahead."""
