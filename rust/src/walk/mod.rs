//! Walk a directory tree by several threads: every regular file is counted once, and some are drawn for a closer
//! look. On directory handles only: no symbolic link is followed, no other file system entered unless asked.
//!
//! Memory does not grow with the number of files: totals and samples are reduced by each thread as it goes. What waits
//! is directories, deepest first, and the inodes with several names of which not all were seen yet.

mod pace;
mod sample;
mod slot;
mod stat;
mod strata;
mod totals;
mod tree;

use crate::backend::listing::for_each_entry;
use crate::error::{Error, Result};
use pace::Pace;
pub use sample::{BottomK, Drawn};
use slot::Slot;
pub use slot::ThreadStep;
use stat::Stat;
use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
pub use strata::By;
use strata::{Strata, Stratum};
pub use totals::{AGE_EDGES_DAYS, SNAPSHOTS, Totals};
use tree::{Handle, Node};

/// Names that another thread takes at a time from a directory with more than so many: few where few were seen, so that
/// threads wait for a slow server together, many of a large one.
const BATCH: std::ops::RangeInclusive<usize> = 16..=512;
/// Directories so many levels down are shared out over the processes of one walk.
const SHARED_DEPTH: u32 = 2;
/// Inodes with several names that are remembered, about 40 bytes each; of more every name is counted.
const MOST_LINKED: usize = 1 << 22;

#[derive(Clone, Debug)]
pub struct Asked {
    pub threads: usize,
    pub seed: u64,
    /// How many files are drawn with equal chances.
    pub by_count: usize,
    /// How many are drawn with chances that are proportional to their size.
    pub by_size: usize,
    /// The size that counts is what is allocated.
    pub allocated: bool,
    pub other_file_systems: bool,
    pub snapshots: bool,
    /// Parts of the tree that have samples of their own.
    pub by: By,
    /// Which part of the tree is this process's, of how many: (0, 1) is all of it.
    pub share: (u32, u32),
    /// Looks at entries a second, at most; 0: no limit.
    pub rate: u32,
    /// Ages are counted from here, seconds since 1970.
    pub now_s: i64,
}

enum Task {
    List(Arc<Node>, Option<Arc<Handle>>),
    /// Names in a directory, each ended by a 0.
    Look(Arc<Node>, Arc<Handle>, Vec<u8>),
}

/// What one thread has seen.
pub struct Part {
    pub totals: Totals,
    pub by_count: BottomK,
    pub by_size: BottomK,
    /// Strata by owner that this thread has met.
    owners: HashMap<u32, Option<Arc<Stratum>>>,
    /// What this thread does just now.
    slot: Arc<Slot>,
}

impl Part {
    fn new(asked: &Asked, slot: Arc<Slot>) -> Self {
        Self {
            totals: Totals::default(),
            by_count: BottomK::new(asked.by_count),
            by_size: BottomK::new(asked.by_size),
            owners: HashMap::new(),
            slot,
        }
    }

    fn add(&mut self, other: Part) {
        self.totals.add(other.totals);
        self.by_count.add(other.by_count);
        self.by_size.add(other.by_size);
    }
}

#[derive(Default)]
struct Waiting {
    /// A stack: depth first keeps few directories waiting.
    tasks: Vec<Task>,
    /// Tasks that are in the stack or at work.
    unfinished: usize,
    /// Threads that work no more.
    ended: usize,
    /// One of them by a bug.
    failed: bool,
    result: Option<Part>,
}

pub struct Walk {
    asked: Asked,
    root: Handle,
    device: u64,
    waiting: Mutex<Waiting>,
    bell: Condvar,
    idle: AtomicUsize,
    stop: AtomicBool,
    files: AtomicU64,
    /// One a thread.
    slots: Vec<Arc<Slot>>,
    strata: Strata,
    pace: Option<Pace>,
    /// Inode with several names → names that were not seen yet.
    linked: Mutex<HashMap<(u64, u64), u32>>,
    /// Roots of file systems that were entered: one that is mounted twice is entered once.
    entered: Mutex<Vec<(u64, u64)>>,
}

impl Walk {
    /// Begin at a directory. Its threads go on until it ends, or `stop` is called.
    pub fn start(path: &[u8], asked: Asked) -> Result<Arc<Self>> {
        let root = tree::open_root(path)?;
        let here = Stat::of_handle(root.as_raw_fd())
            .map_err(|errno| Error::os(errno, String::from_utf8_lossy(path)))?;
        let threads = asked.threads.clamp(1, 256);
        let strata = Strata::new(asked.by, asked.by_count, asked.by_size);
        let top = if strata.begins_at(0) { strata.of(b".") } else { None };
        let walk = Arc::new(Self {
            pace: Pace::new(asked.rate),
            asked,
            strata,
            device: here.device,
            waiting: Mutex::default(),
            bell: Condvar::new(),
            idle: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            files: AtomicU64::new(0),
            slots: (0..threads).map(|_| Arc::default()).collect(),
            linked: Mutex::default(),
            entered: Mutex::new(vec![(here.device, here.inode)]),
            root,
        });
        walk.push(vec![Task::List(Arc::new(Node::root(top)), None)]);
        for slot in walk.slots.iter().map(Arc::clone) {
            let one = Arc::clone(&walk);
            std::thread::spawn(move || {
                if catch_unwind(AssertUnwindSafe(|| one.work(threads, slot))).is_err() {
                    one.fail();
                }
            });
        }
        Ok(walk)
    }

    /// Files seen so far.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// What each thread that waits for the tree does just now.
    pub fn steps(&self) -> Vec<ThreadStep> {
        self.slots.iter().enumerate().filter_map(|(thread, slot)| slot.step(thread)).collect()
    }

    /// A number that grows as long as anything gets on.
    pub fn advanced(&self) -> u64 {
        self.slots.iter().map(|slot| slot.advanced()).sum()
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// What was found, once all threads have ended; None if that takes longer than so. An error is a bug of ours.
    pub fn wait(&self, at_most: Duration) -> Option<Result<Part>> {
        let waiting = self.waiting.lock().expect("no thread panics with the lock");
        let all = self.asked.threads.clamp(1, 256);
        let (mut waiting, _) = self
            .bell
            .wait_timeout_while(waiting, at_most, |waiting| waiting.ended < all)
            .expect("no thread panics with the lock");
        if waiting.ended < all {
            return None;
        }
        match waiting.result.take() {
            Some(part) if !waiting.failed => Some(Ok(part)),
            _ => Some(Err(Error::Workload("a thread of the walk ended by a bug".to_owned()))),
        }
    }

    fn fail(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(|poison| poison.into_inner());
        waiting.failed = true;
        waiting.ended += 1;
        drop(waiting);
        self.bell.notify_all();
    }

    fn push(&self, tasks: Vec<Task>) {
        if tasks.is_empty() {
            return;
        }
        let several = tasks.len() > 1;
        let mut waiting = self.waiting.lock().expect("no thread panics with the lock");
        waiting.unfinished += tasks.len();
        waiting.tasks.extend(tasks);
        drop(waiting);
        if several {
            self.bell.notify_all();
        } else {
            self.bell.notify_one();
        }
    }

    fn work(&self, threads: usize, slot: Arc<Slot>) {
        let mut part = Part::new(&self.asked, Arc::clone(&slot));
        while let Some(task) = self.next() {
            let (Task::List(node, _) | Task::Look(node, ..)) = &task;
            slot.begin(node);
            match task {
                _ if self.stop.load(Ordering::Relaxed) => {}
                Task::List(node, above) => self.list(&mut part, &node, above.as_deref()),
                Task::Look(node, handle, names) => {
                    let mut below = Vec::new();
                    for name in names.split_inclusive(|&byte| byte == 0) {
                        let name = CStr::from_bytes_with_nul(name).unwrap_or_default();
                        below.extend(self.look(&mut part, &node, handle.as_raw_fd(), name));
                    }
                    self.go_below(&mut below, &handle);
                }
            }
            slot.end();
            let mut waiting = self.waiting.lock().expect("no thread panics with the lock");
            waiting.unfinished -= 1;
            if waiting.unfinished == 0 {
                self.bell.notify_all();
            }
        }
        let mut waiting = self.waiting.lock().expect("no thread panics with the lock");
        match &mut waiting.result {
            Some(all) => all.add(part),
            None => waiting.result = Some(part),
        }
        waiting.ended += 1;
        if waiting.ended == threads {
            let linked = self.linked.lock().expect("no thread panics with the lock");
            let elsewhere = linked.len() as u64;
            if let Some(all) = &mut waiting.result {
                all.totals.linked_elsewhere = elsewhere;
            }
        }
        drop(waiting);
        self.bell.notify_all();
    }

    /// The deepest task; None when there will be no more.
    fn next(&self) -> Option<Task> {
        let mut waiting = self.waiting.lock().expect("no thread panics with the lock");
        loop {
            if let Some(task) = waiting.tasks.pop() {
                return Some(task);
            }
            if waiting.unfinished == 0 || waiting.failed {
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            waiting = self.bell.wait(waiting).expect("no thread panics with the lock");
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether what is in a directory, beside other directories, counts here: above those that are shared, by the first.
    fn is_mine(&self, node: &Node) -> bool {
        self.asked.share.0 == 0 || node.depth >= SHARED_DEPTH
    }

    /// Whether a directory that is shared out is this process's.
    fn shares_in(&self, path: &[u8]) -> bool {
        let (which, of) = self.asked.share;
        let hash = path.iter().fold(0, |hash, &byte| crate::rng::mix(hash ^ u64::from(byte)));
        of < 2 || hash % u64::from(of) == u64::from(which)
    }

    /// Look at what is in a directory; its own directories become tasks.
    fn list(&self, part: &mut Part, node: &Arc<Node>, above: Option<&Handle>) {
        let mine = self.is_mine(node);
        let handle = match node.open(&self.root, above) {
            Ok(handle) => Arc::new(handle),
            Err(errno) if mine => return part.totals.unreadable_directory(errno),
            Err(_) => return,
        };
        if mine {
            part.totals.directory(node.depth);
        }
        let (mut below, mut batch, mut names, mut seen) = (Vec::new(), Vec::new(), 0, 0usize);
        let idle = || self.idle.load(Ordering::Relaxed) > 0;
        let end = for_each_entry(handle.as_raw_fd(), |name, kind| {
            seen += 1;
            part.slot.advance();
            match kind {
                libc::DT_DIR | libc::DT_UNKNOWN if !mine => {
                    below.extend(self.look(part, node, handle.as_raw_fd(), name));
                }
                _ if !mine => {}
                libc::DT_LNK => part.totals.links += 1,
                libc::DT_FIFO | libc::DT_SOCK | libc::DT_CHR | libc::DT_BLK => part.totals.others += 1,
                _ if names > 0 || (seen > *BATCH.start() && idle()) => {
                    batch.extend_from_slice(name.to_bytes_with_nul());
                    names += 1;
                    if names >= (seen / *BATCH.start()).clamp(*BATCH.start(), *BATCH.end()) {
                        names = 0;
                        let taken = std::mem::take(&mut batch);
                        self.push(vec![Task::Look(Arc::clone(node), Arc::clone(&handle), taken)]);
                    }
                }
                _ => {
                    if let Some(directory) = self.look(part, node, handle.as_raw_fd(), name) {
                        below.push(directory);
                        if idle() {
                            self.go_below(&mut below, &handle);
                        }
                    }
                }
            }
        });
        if names > 0 {
            self.push(vec![Task::Look(Arc::clone(node), Arc::clone(&handle), batch)]);
        }
        if end < 0 && mine {
            part.totals.unreadable_directory(-end as i32);
        }
        self.go_below(&mut below, &handle);
    }

    /// Directories of one that is open become tasks.
    fn go_below(&self, below: &mut Vec<Arc<Node>>, handle: &Arc<Handle>) {
        let held = tree::may_hold();
        let tasks = below.drain(..).map(|one| Task::List(one, held.then(|| Arc::clone(handle))));
        self.push(tasks.collect());
    }

    /// Count an entry; a directory that is to be entered is returned.
    fn look(&self, part: &mut Part, node: &Arc<Node>, handle: RawFd, name: &CStr) -> Option<Arc<Node>> {
        if let Some(pace) = &self.pace {
            part.slot.end(); // it waits for its turn, not for the tree
            pace.wait(&self.stop);
            part.slot.begin(node);
        }
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let mine = self.is_mine(node);
        part.slot.enter(name);
        let found = Stat::of(handle, name);
        part.slot.leave();
        let stat = match found {
            Ok(stat) => stat,
            Err(_) if !mine => return None,
            Err(libc::ENOENT) => {
                part.totals.vanished += 1;
                return None;
            }
            Err(errno) => {
                part.totals.unknown_entry(errno);
                return None;
            }
        };
        match stat.mode & libc::S_IFMT {
            libc::S_IFDIR => return self.enter(part, node, handle, name, &stat),
            _ if !mine => {}
            libc::S_IFREG => self.count(part, node, name, &stat),
            libc::S_IFLNK => part.totals.links += 1,
            _ => part.totals.others += 1,
        }
        None
    }

    /// The directory, if it belongs to the tree.
    fn enter(
        &self,
        part: &mut Part,
        node: &Arc<Node>,
        handle: RawFd,
        name: &CStr,
        stat: &Stat,
    ) -> Option<Arc<Node>> {
        let count = |number: &mut u64| *number += u64::from(self.is_mine(node));
        if !self.asked.snapshots
            && let Some(which) = SNAPSHOTS.iter().position(|known| known.as_bytes() == name.to_bytes())
        {
            count(&mut part.totals.snapshots[which]);
            return None;
        }
        if stat.mount_root || stat.device != node.device.unwrap_or(self.device) {
            // What is mounted a second time is no other file system: its files are seen where they are, or not of the tree.
            let again = stat.device == self.device;
            if again || !self.asked.other_file_systems || tree::is_pseudo(handle, name) {
                count(&mut part.totals.mounts);
                return None;
            }
            let mut entered = self.entered.lock().expect("no thread panics with the lock");
            if entered.contains(&(stat.device, stat.inode)) {
                count(&mut part.totals.mounts);
                return None;
            }
            entered.push((stat.device, stat.inode));
        }
        if node.depth + 1 == SHARED_DEPTH && !self.shares_in(&node.path_of(name)) {
            return None;
        }
        let mut stratum = node.stratum.clone();
        if self.strata.begins_at(node.depth + 1) {
            stratum = self.strata.of(&node.path_of(name));
        }
        Some(Arc::new(Node::below(node, name, stat.device, stratum)))
    }

    fn count(&self, part: &mut Part, node: &Arc<Node>, name: &CStr, stat: &Stat) {
        if stat.links > 1 && self.seen_before(&mut part.totals, stat) {
            part.totals.hard_links += 1;
            return;
        }
        self.files.fetch_add(1, Ordering::Relaxed);
        part.totals.file(stat, node.depth, self.asked.now_s);
        let device = if stat.device == self.device { 0 } else { stat.device };
        let chance = sample::chance(self.asked.seed, device, stat.inode);
        let size = if self.asked.allocated { stat.allocated } else { stat.size };
        part.by_count.offer(chance, || Drawn::new(node, name, stat));
        let by_size = (size > 0).then(|| chance / size as f64);
        if let Some(key) = by_size {
            part.by_size.offer(key, || Drawn::new(node, name, stat));
        }
        let stratum = if self.strata.by_owner() {
            let new = || self.strata.of(stat.owner.to_string().as_bytes());
            part.owners.entry(stat.owner).or_insert_with(new)
        } else {
            &node.stratum
        };
        if let Some(stratum) = stratum {
            stratum.add(stat, chance, by_size, || Drawn::new(node, name, stat));
        }
    }

    /// Each with a file; None if there were too many.
    pub fn strata(&self) -> Option<Vec<Arc<Stratum>>> {
        (!self.strata.too_many()).then(|| self.strata.all())
    }

    /// Whether another name of the same inode was counted. One is forgotten when all of its names were seen.
    fn seen_before(&self, totals: &mut Totals, stat: &Stat) -> bool {
        let mut linked = self.linked.lock().expect("no thread panics with the lock");
        let key = (stat.device, stat.inode);
        if let Some(left) = linked.get_mut(&key) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                linked.remove(&key);
            }
            return true;
        }
        if linked.len() < MOST_LINKED {
            linked.insert(key, stat.links - 1);
        } else {
            totals.links_unchecked += 1;
        }
        false
    }
}

#[cfg(test)]
mod tests;
