"""What displays show: read from fitted models, or computed from points; nothing is drawn here."""
