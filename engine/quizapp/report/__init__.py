"""Reports for people who were not there: one self-contained HTML file, no network, no script."""
