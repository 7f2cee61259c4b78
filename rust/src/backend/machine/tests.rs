use super::*;
use crate::testing::request;

fn play(script: &str, steps: &[(Kind, u64, u32)]) -> Vec<(f64, Class)> {
    let script = serde_json::from_str(script).unwrap();
    let (mut machine, mut rng, mut now) = (Machine::new(script), Rng::stream(&[1]), 1_000_000_000);
    let mut one = |&(kind, offset, length): &(Kind, u64, u32)| {
        let (ns, class) = machine.play(now, &request(kind, offset, length), &mut rng);
        now += ns as u64;
        (ns, class)
    };
    steps.iter().map(&mut one).collect()
}

fn classes(played: &[(f64, Class)]) -> Vec<Class> {
    played.iter().map(|(_, class)| *class).collect()
}

fn reads(offsets: impl Iterator<Item = u64>) -> Vec<(Kind, u64, u32)> {
    offsets.map(|offset| (Kind::Read, offset, 4096)).collect()
}

#[test]
fn read_ahead_brings_a_window_to_who_goes_on_and_nothing_to_who_goes_back() {
    let script = r#"{"kind": "read_ahead", "window": 16384}"#;
    let forward = play(script, &reads((0..8).map(|block| block * 4096)));
    let (fetch, ahead) = (Class::Fetch, Class::ReadAhead);
    assert_eq!(classes(&forward), [fetch, ahead, ahead, ahead, fetch, ahead, ahead, ahead]);
    assert!(forward[0].0 > 50.0 * forward[1].0);
    let back = play(script, &reads((1..8).rev().map(|block| block * 4096)));
    assert!(classes(&back).iter().all(|class| *class == Class::Miss));
}

#[test]
fn who_passes_the_dirty_limit_waits() {
    let script = r#"{"kind": "write_behind", "dirty_limit": 40960, "device_ns_per_byte": 100}"#;
    let played = play(script, &[(Kind::Write, 0, 4096); 20]);
    let throttled = classes(&played).iter().filter(|class| **class == Class::Throttled).count();
    assert!((2..6).contains(&throttled), "{throttled}");
    assert_eq!(played[10].1, Class::Throttled);
    assert!(played[10].0 > 1000.0 * played[9].0);
}

#[test]
fn blocks_on_the_slow_server_are_slow() {
    let script = r#"{"kind": "stripe", "servers": 4, "stripe_size": 4096, "slow_factor": 10}"#;
    for (block, (ns, class)) in play(script, &reads((0..16).map(|block| block * 4096))).iter().enumerate() {
        assert_eq!(*class == Class::SlowServer, block % 4 == 3);
        assert_eq!(*ns > 200_000.0, block % 4 == 3);
    }
    let across = play(script, &[(Kind::Read, 8192, 8192)]);
    assert_eq!(across[0].1, Class::SlowServer);
}

#[test]
fn locks_are_lost_once_a_period() {
    let script =
        r#"{"kind": "lock", "every_ns": 1000000, "held_ns": 100000, "network_ns": 20000, "prepare_ns": 0}"#;
    let played = play(script, &[(Kind::Write, 0, 100_000); 400]);
    let count = |wanted| classes(&played).iter().filter(|class| **class == wanted).count();
    assert!(count(Class::Held) > 300 && (2..9).contains(&count(Class::Contended)));
    assert!(played.iter().all(|(ns, class)| (*ns > 80_000.0) == (*class == Class::Contended)));
}

#[test]
fn a_small_cache_forgets_what_it_had() {
    let script = r#"{"kind": "small_cache", "capacity": 16384}"#;
    let twice = play(script, &reads((0..16).map(|at| at % 8 * 4096)));
    let (miss, evicted) = (Class::Miss, Class::Evicted);
    assert_eq!(classes(&twice), [[miss; 8], [evicted; 8]].concat());
    let cached = r#"{"kind": "small_cache", "capacity": 16384, "state": "cached", "file_size": 32768}"#;
    let back = play(cached, &reads((0..8).rev().map(|at| at * 4096)));
    assert_eq!(classes(&back), [[Class::Cached; 4], [evicted; 4]].concat());
}

#[test]
fn two_components_have_the_share_and_the_means_that_were_asked_for() {
    let script = r#"{"kind": "two_components", "miss": 0.3, "copy_ns_per_byte": 0, "network_ns": 0,
        "mode_switch_ns": 1000, "device_ns_per_byte": 0, "prepare_ns": 9000}"#;
    let played = play(script, &reads(0..20_000));
    let slow: Vec<_> = played.iter().filter(|one| one.1 == Class::Slow).map(|one| one.0).collect();
    let fast: Vec<_> = played.iter().filter(|one| one.1 == Class::Fast).map(|one| one.0).collect();
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    assert!((0.29..0.31).contains(&(slow.len() as f64 / 20_000.0)));
    assert!((990.0..1010.0).contains(&mean(&fast)) && (9900.0..10100.0).contains(&mean(&slow)));
}

#[test]
fn nothing_takes_as_short_as_what_is_discarded_and_outliers_are_named() {
    let script = r#"{"kind": "read_ahead", "state": "discard", "outliers": 0.5}"#;
    let played = play(script, &reads(0..1000));
    let outliers = played.iter().filter(|one| one.1 == Class::Outlier).count();
    assert!((430..570).contains(&outliers));
    assert!(played.iter().all(|(ns, class)| (*ns > 2000.0) == (*class == Class::Outlier)));
}
