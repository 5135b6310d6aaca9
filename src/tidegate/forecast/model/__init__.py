"""What a forecaster knows of its target: features, experts, mixtures, in one array."""
