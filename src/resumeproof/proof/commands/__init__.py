"""A command line as a subject: any program, killed at each of its durable system calls."""
