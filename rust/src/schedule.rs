//! Open loop: when each operation is due, whatever the ones before do. The response time counts from here, so that
//! an operation that waits behind a slow one shows it (Schroeder et al., "Open versus closed", NSDI 2006; Tene,
//! "How not to measure latency": coordinated omission).

use crate::rng::Rng;
use crate::workload::{Arrival, Distribution};

pub struct Schedule {
    arrival: Arrival,
    begin_ns: u64,
    number: u64,
    /// Of the next Poisson arrival, seconds after the begin.
    due_s: f64,
    rng: Rng,
}

impl Schedule {
    pub fn new(arrival: Arrival, begin_ns: u64, mut rng: Rng) -> Self {
        let due_s = match arrival.distribution {
            Distribution::Poisson => -rng.unit().ln() / arrival.rate_per_s.0,
            Distribution::Uniform => 0.0,
        };
        Self { arrival, begin_ns, number: 0, due_s, rng }
    }

    /// When the next operation is due, ns.
    pub fn next(&mut self) -> u64 {
        let due_s = if self.arrival.distribution == Distribution::Poisson {
            let due_s = self.due_s;
            self.due_s -= self.rng.unit().ln() / self.arrival.rate_per_s.0;
            due_s
        } else {
            self.number as f64 / self.arrival.rate_per_s.0
        };
        self.number += 1;
        self.begin_ns.saturating_add((due_s * 1e9).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Number;

    fn arrivals(distribution: Distribution) -> Vec<u64> {
        let mut schedule =
            Schedule::new(Arrival { rate_per_s: Number(1000.0), distribution }, 50, Rng::stream(&[4]));
        (0..20_000).map(|_| schedule.next()).collect()
    }

    #[test]
    fn uniform_arrivals_are_evenly_spaced() {
        let times = arrivals(Distribution::Uniform);
        assert_eq!(times[..3], [50, 1_000_050, 2_000_050]);
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let times = arrivals(Distribution::Poisson);
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let beyond_mean = gaps.iter().filter(|&&gap| gap > 1.0).count() as f64 / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.03, "mean {mean}");
        assert!((beyond_mean - (-1f64).exp()).abs() < 0.02, "beyond the mean {beyond_mean}");
    }
}
