"""What an installation says of itself to Prometheus, at /metrics."""
