"""Estimators and tests: samples of trials in, Estimates and p-values out."""
