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
fn deeper_than_a_path_may_be_long() {
    let tree = TempDir::new("deep");
    let name = std::ffi::CString::new("d".repeat(100)).unwrap();
    let mut at = tree::open_root(tree.path().as_os_str().as_encoded_bytes()).unwrap();
    let root = Arc::new(Node::root());
    let mut node = Arc::clone(&root);
    for level in 0..1500 {
        // SAFETY: `name` and `side` are NUL-terminated.
        unsafe { assert_eq!(libc::mkdirat(at.as_raw_fd(), name.as_ptr(), 0o700), 0) };
        if level < 600 {
            unsafe { assert_eq!(libc::mkdirat(at.as_raw_fd(), c"side".as_ptr(), 0o700), 0) };
        }
        node = Arc::new(Node::below(&node, &name, 0));
        let next = node.open(&at, Some(&at)).unwrap_or_else(|errno| panic!("{errno}"));
        at = next;
    }
    assert!(node.open(&tree::open_root(tree.path().as_os_str().as_encoded_bytes()).unwrap(), None).is_ok());
    let totals = walked(tree.path(), |_| ()).totals;
    assert_eq!((totals.directories, totals.deepest), (2101, 1500));
    crate::remove::remove_tree(tree.path().join("side").to_str().unwrap(), 1).unwrap();
    crate::remove::remove_tree(tree.path().join("d".repeat(100)).to_str().unwrap(), 1).unwrap();
}
