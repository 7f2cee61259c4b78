use super::*;
use crate::testing::TempDir;
use std::fs;
use std::os::unix::fs::symlink;

fn walked(path: &std::path::Path, change: impl FnOnce(&mut Asked)) -> Part {
    let mut asked = Asked {
        threads: 4,
        seed: 7,
        by_count: 3,
        by_size: 3,
        allocated: false,
        other_file_systems: false,
        snapshots: false,
        by: By::None,
        rate: 0,
        share: (0, 1),
        now_s: 0,
    };
    change(&mut asked);
    let walk = Walk::start(path.as_os_str().as_encoded_bytes(), asked).unwrap();
    walk.wait(Duration::from_secs(60)).expect("it ends").unwrap()
}

fn names(sample: BottomK) -> Vec<(f64, String)> {
    let text = |one: &Drawn| String::from_utf8_lossy(&one.path()).into_owned();
    sample.into_drawn().iter().map(|(key, file)| (*key, text(file))).collect()
}

#[test]
fn each_inode_counts_once_and_links_lead_nowhere() {
    let (inside, outside) = (TempDir::new("walk"), TempDir::new("outside"));
    let root = inside.path();
    fs::write(outside.path().join("secret"), "not ours").unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::create_dir_all(root.join(".snapshot/old")).unwrap();
    fs::write(root.join(".snapshot/old/x"), "before").unwrap();
    fs::write(root.join("a/one"), "12345").unwrap();
    fs::write(root.join("a/b/none"), "").unwrap();
    fs::hard_link(root.join("a/one"), root.join("a/b/again")).unwrap();
    fs::hard_link(root.join("a/b/none"), outside.path().join("none")).unwrap();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink(root, root.join("a/loop")).unwrap();
    let totals = walked(root, |_| ()).totals;
    assert_eq!((totals.whole[0], totals.whole[1], totals.hard_links), (2, 5, 1));
    assert_eq!((totals.directories, totals.links, totals.empty), (3, 2, 1));
    assert_eq!((totals.snapshots, totals.linked_elsewhere, totals.deepest), ([1, 0, 0], 1, 2));
    assert_eq!((totals.sizes[0][0], totals.sizes[3][0], totals.sizes[3][1]), (1, 1, 5));
    assert_eq!(totals.depths.iter().map(|row| row[0]).sum::<u64>(), 2);
    assert_eq!(walked(root, |asked| asked.snapshots = true).totals.whole[1], 11);
}

#[test]
fn the_sample_is_that_of_the_seed_whatever_the_threads_do() {
    let tree = TempDir::new("seed");
    for directory in 0..20 {
        let here = tree.path().join(format!("d{directory}"));
        fs::create_dir(&here).unwrap();
        (0..50).for_each(|file| fs::write(here.join(format!("f{file}")), vec![0; file]).unwrap());
    }
    let of = |threads, seed| {
        let part = walked(tree.path(), |asked| (asked.threads, asked.seed) = (threads, seed));
        (names(part.by_count), names(part.by_size))
    };
    let one = of(1, 7);
    assert_eq!(one.0.len(), 4, "three, and the threshold");
    assert_eq!(one, of(16, 7));
    assert_ne!(one, of(1, 8));
}

#[test]
fn a_large_directory_is_shared_and_nothing_is_lost() {
    let tree = TempDir::new("many");
    (0..5000).for_each(|file| fs::write(tree.path().join(format!("{file}")), "x").unwrap());
    let part = walked(tree.path(), |asked| asked.by_count = 10_000);
    assert_eq!(part.totals.whole[0], 5000);
    let mut drawn: Vec<_> = names(part.by_count).into_iter().map(|(_, name)| name).collect();
    drawn.sort();
    drawn.dedup();
    assert_eq!(drawn.len(), 5000);
}

#[test]
fn what_is_in_directories_that_are_shared_is_seen_once_whatever_the_threads_do() {
    let tree = TempDir::new("wide");
    for number in 0..300 {
        let here = tree.path().join(format!("d{number}"));
        fs::create_dir(&here).unwrap();
        (0..number % 40).for_each(|file| fs::write(here.join(format!("f{file}")), "12").unwrap());
        fs::write(tree.path().join(format!("f{number}")), "1").unwrap();
    }
    let of = |threads| {
        let part = walked(tree.path(), |asked| asked.threads = threads);
        (part.totals.whole, part.totals.directories, names(part.by_count))
    };
    let one = of(1);
    assert_eq!((one.0[0], one.1), (300 + (0..300).map(|number| number % 40).sum::<u64>(), 301));
    (0..20).for_each(|_| assert_eq!(one, of(16)));
}

#[test]
fn deeper_than_a_path_may_be_long() {
    let tree = TempDir::new("deep");
    let name = std::ffi::CString::new("d".repeat(100)).unwrap();
    let mut at = tree::open_root(tree.path().as_os_str().as_encoded_bytes()).unwrap();
    let root = Arc::new(Node::root(None));
    let mut node = Arc::clone(&root);
    for level in 0..1500 {
        // SAFETY: `name` and `side` are NUL-terminated.
        unsafe { assert_eq!(libc::mkdirat(at.as_raw_fd(), name.as_ptr(), 0o700), 0) };
        if level < 600 {
            unsafe { assert_eq!(libc::mkdirat(at.as_raw_fd(), c"side".as_ptr(), 0o700), 0) };
        }
        node = Arc::new(Node::below(&node, &name, 0, None));
        let next = node.open(&at, Some(&at)).unwrap_or_else(|errno| panic!("{errno}"));
        at = next;
    }
    assert!(node.open(&tree::open_root(tree.path().as_os_str().as_encoded_bytes()).unwrap(), None).is_ok());
    let totals = walked(tree.path(), |_| ()).totals;
    assert_eq!((totals.directories, totals.deepest), (2101, 1500));
    crate::remove::remove_tree(tree.path().join("side").to_str().unwrap(), 1).unwrap();
    crate::remove::remove_tree(tree.path().join("d".repeat(100)).to_str().unwrap(), 1).unwrap();
}

#[test]
fn strata_hold_every_file_once_and_draw_as_the_whole_does() {
    let tree = TempDir::new("strata");
    for directory in ["a/x", "a/y/z", "b"] {
        fs::create_dir_all(tree.path().join(directory)).unwrap();
        (0..5).for_each(|file| fs::write(tree.path().join(directory).join(format!("{file}")), "12").unwrap());
    }
    fs::write(tree.path().join("top"), "1").unwrap();
    fs::create_dir(tree.path().join("empty")).unwrap();
    let strata = |by| {
        let (path, draws) = (tree.path().as_os_str().as_encoded_bytes(), 3);
        let asked = Asked {
            threads: 4,
            seed: 7,
            by_count: draws,
            by_size: draws,
            allocated: false,
            other_file_systems: false,
            snapshots: false,
            by,
            rate: 0,
            share: (0, 1),
            now_s: 0,
        };
        let walk = Walk::start(path, asked).unwrap();
        walk.wait(Duration::from_secs(60)).expect("it ends").unwrap();
        let all = walk.strata().unwrap();
        all.iter()
            .map(|one| {
                let (by_count, by_size) = one.take();
                let name = String::from_utf8_lossy(&one.name).into_owned();
                (name, one.row()[..2].to_vec(), by_count.into_drawn().len(), by_size.into_drawn().len())
            })
            .collect::<Vec<_>>()
    };
    let one = |name: &str, files: u64, bytes, drawn| (name.to_owned(), vec![files, bytes], drawn, drawn);
    assert_eq!(strata(By::Directory(1)), [one(".", 1, 1, 1), one("a", 10, 20, 4), one("b", 5, 10, 4)]);
    let two = [one(".", 1, 1, 1), one("a/x", 5, 10, 4), one("a/y", 5, 10, 4), one("b", 5, 10, 4)];
    assert_eq!(strata(By::Directory(2)), two);
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(tree.path()).unwrap());
    assert_eq!(strata(By::Owner), [one(&owner.to_string(), 16, 31, 4)]);
    assert_eq!(strata(By::None), []);
}

#[test]
fn a_walk_is_no_faster_than_asked_and_can_be_stopped() {
    let tree = TempDir::new("pace");
    (0..40).for_each(|file| fs::write(tree.path().join(format!("{file}")), "x").unwrap());
    let began = std::time::Instant::now();
    assert_eq!(walked(tree.path(), |asked| asked.rate = 200).totals.whole[0], 40);
    assert!(began.elapsed() >= Duration::from_millis(195), "39 turns of 5 ms");
    let pace = Pace::new(1).unwrap();
    let stop = AtomicBool::new(true);
    (0..1_000_000).for_each(|_| pace.wait(&stop));
}

#[test]
fn what_threads_wait_for_is_named_and_a_turn_is_not_waiting_for_the_tree() {
    let root = Arc::new(Node::root(None));
    let below = Arc::new(Node::below(&root, c"a", 0, None));
    let slot = Slot::default();
    assert_eq!(slot.step(3), None);
    slot.begin(&below);
    let (thread, listing, path) = slot.step(3).unwrap();
    assert_eq!((thread, path.as_slice()), (3, b"a".as_slice()));
    slot.enter(c"f");
    let (_, looking, path) = slot.step(3).unwrap();
    assert_eq!(path, b"a/f");
    assert!(looking > listing);
    slot.leave();
    assert_eq!(slot.step(3).unwrap().2, b"a");
    slot.end();
    assert_eq!(slot.step(3), None);
}

#[test]
fn processes_that_share_a_tree_see_each_file_once() {
    let tree = TempDir::new("shares");
    for top in 0..6 {
        for below in 0..5 {
            let here = tree.path().join(format!("t{top}/b{below}/c"));
            fs::create_dir_all(&here).unwrap();
            for place in [tree.path().to_owned(), here.clone(), here.join(".."), here.join("../..")] {
                fs::write(place.join(format!("f{top}{below}")), "123").unwrap();
            }
        }
        symlink("nowhere", tree.path().join(format!("t{top}/link"))).unwrap();
        fs::create_dir(tree.path().join(format!("t{top}/.snapshot"))).unwrap();
    }
    let seen = |totals: &Totals| {
        [totals.whole[0], totals.whole[1], totals.directories, totals.links, totals.snapshots[0]]
    };
    let whole = seen(&walked(tree.path(), |_| ()).totals);
    assert_eq!(whole, [120, 360, 67, 6, 6]);
    let parts: Vec<_> =
        (0..3).map(|one| seen(&walked(tree.path(), |asked| asked.share = (one, 3)).totals)).collect();
    assert!(parts.iter().all(|part| part[0] > 0), "{parts:?}");
    assert_eq!([0, 1, 2, 3, 4].map(|at| parts.iter().map(|part| part[at]).sum::<u64>()), whole);
}

#[test]
fn sizes_that_no_disk_holds_add_up_to_the_largest_number() {
    let tree = TempDir::new("sums");
    let mut stat = Stat::of_handle(fs::File::open(tree.path()).unwrap().as_raw_fd()).unwrap();
    stat.size = 1 << 62;
    let (mut totals, mut part) = (Totals::default(), Totals::default());
    (0..60).for_each(|_| totals.file(&stat, 1, 0));
    part.file(&stat, 1, 0);
    totals.add(part);
    assert_eq!((totals.whole[0], totals.whole[1]), (61, u64::MAX));
    let strata = Strata::new(By::Owner, 0, 0);
    let stratum = strata.of(b"0").unwrap();
    (0..60).for_each(|_| stratum.add(&stat, 0.5, None, || unreachable!("none is drawn")));
    assert_eq!(stratum.row()[..2], [60, u64::MAX]);
}
