"""Runs the cases that every route takes through the hosts of capi/examples, and compares every bit.

    python tests/capi/cases.py LIBRARY CASES HOST_C_LIBRARY
"""
import sys
