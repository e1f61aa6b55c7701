"""Durable facts, and nothing about why they are kept."""
