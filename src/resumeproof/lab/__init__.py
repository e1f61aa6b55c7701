"""The demo: one crash boundary, two workflows, and the process that dies."""
