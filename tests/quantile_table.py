"""``python -m quantile_table``: a table of two modes, twelve and forty trials, skewed, always the same."""

import numpy as np

if __name__ == "__main__":
    rng = np.random.default_rng(17)
    print("mode,time (s)")
    for mode, middle, trials in (("cold", 9.0, 12), ("warm", 2.0, 40)):
        for value in middle * np.exp(rng.normal(0.0, 0.3, trials)):
            print(f"{mode},{value:.3f}")
