"""Finds secrets that their own look gives away: tokens, private keys, links.

The rules for the tokens of providers are data: ``rules.json``, made from gitleaks' set,
and ``own_rules.json``, written by hand.
"""
