"""placeholder"""
section=None
