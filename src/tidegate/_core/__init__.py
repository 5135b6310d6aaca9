"""The ground floor: errors, records, traces and the discovery of families."""
