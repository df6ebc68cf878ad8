//! CPU times of a process' threads, from the kernel.

use std::{collections::BTreeMap, fs};

/// By thread: nanoseconds in which it ran, and in which it was ready to run.
pub struct Threads(BTreeMap<String, (u64, u64)>);

impl Threads {
    pub fn of(process: u32) -> Self {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("a process");
        let tasks = tasks.filter_map(|task| {
            let task = task.ok()?;
            let stat = fs::read_to_string(task.path().join("schedstat")).ok()?;
            let mut numbers = stat.split_whitespace().map(str::parse);
            let (Some(Ok(ran)), Some(Ok(waited))) = (numbers.next(), numbers.next()) else {
                return None;
            };
            Some((task.file_name().into_string().ok()?, (ran, waited)))
        });
        Self(tasks.collect())
    }

    /// The times since `before`.
    pub fn since(mut self, before: &Self) -> Self {
        for (thread, (ran, waited)) in &mut self.0 {
            let (ran_before, waited_before) = before.0.get(thread).copied().unwrap_or_default();
            *ran -= ran_before;
            *waited -= waited_before;
        }
        self
    }

    /// The running time of all threads, in seconds.
    pub fn ran_s(&self) -> f64 {
        self.0.values().map(|(ran, _)| *ran as f64 / 1e9).sum()
    }

    /// The time in seconds in which the busiest thread ran or waited for a core.
    pub fn busiest_s(&self) -> f64 {
        let busy = self.0.values().map(|(ran, waited)| (ran + waited) as f64 / 1e9);
        busy.fold(0.0, f64::max)
    }
}

/// The running time of this process, all threads, in seconds.
#[allow(dead_code, reason = "not every bench is its own load generator")]
pub fn own_ran_s() -> f64 {
    stat_s(11)
}

/// The running time of ended child processes, in seconds.
pub fn children_ran_s() -> f64 {
    stat_s(13)
}

/// The sum of two neighbouring fields of proc(5)'s `stat`, converted from hundredths to seconds: fields 14 and 15 are
/// the process, 16 and 17 its children. `skip` counts the fields after the name.
fn stat_s(skip: usize) -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("a process");
    let (_, fields) = stat.rsplit_once(") ").expect("a name");
    let ran: f64 = fields.split(' ').skip(skip).take(2).map(|ticks| ticks.parse::<f64>().expect("ticks")).sum();
    ran / 100.0
}
