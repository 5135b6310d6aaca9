"""What stands beside a forecast: intervals, the rank of an error, alarms."""
