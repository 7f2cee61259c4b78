//! How many records each worker and phase may keep.

/// Divide `budget` among those who want it: nobody gets more than wanted (None: no end), and what the modest leave
/// goes to the others in equal parts.
pub fn shares(budget: u64, wants: &[Option<u64>]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..wants.len()).collect();
    order.sort_by_key(|&index| wants[index].unwrap_or(u64::MAX));
    let mut shares = vec![0; wants.len()];
    let mut left = budget;
    for (served, &index) in order.iter().enumerate() {
        let equal = left / (wants.len() - served) as u64;
        shares[index] = wants[index].unwrap_or(u64::MAX).min(equal);
        left -= shares[index];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modest_get_all_and_the_rest_is_equal() {
        assert_eq!(shares(100, &[Some(10), None, Some(70)]), [10, 45, 45]);
        assert_eq!(shares(100, &[Some(10), Some(20)]), [10, 20]);
        assert_eq!(shares(0, &[None, None]), [0, 0]);
        assert_eq!(shares(7, &[None, None]), [3, 4]);
    }
}
