"""When rows are due: instants, clocks, steps, gaps and periods."""
