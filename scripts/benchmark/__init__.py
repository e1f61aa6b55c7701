"""What resumeproof costs, as ratios to floors measured in the same run (docs/design.md, 14)."""
