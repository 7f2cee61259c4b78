//! The native core of iosonde: runs workers and records what they do. No statistics, no policy.

mod backend;
mod beneath;
mod budget;
mod buffer;
pub mod cache;
pub mod clock;
mod content;
mod control;
mod device;
pub mod engine;
pub mod error;
mod files;
mod flight;
pub mod histogram;
mod json;
pub mod kind;
mod mapping;
mod operation;
mod parse;
mod parse_step;
mod pattern;
mod plan;
#[cfg(feature = "python")]
mod python;
#[cfg(feature = "python")]
mod python_walk;
pub mod record;
pub mod remove;
mod rng;
mod schedule;
mod sieve;
#[cfg(test)]
mod testing;
pub mod walk;
pub mod worker;
mod workload;
