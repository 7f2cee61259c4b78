"""The study of paths: its workload, its ready-made experiment, and its tables."""
