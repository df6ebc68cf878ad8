//! Memory of the process by the kernel, of the modules by their metrics and of V8 by its inspector; and the disk.

use std::{
    fs,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crate::{
    harness::{METRICS_TOKEN, Signpost},
    inspector,
    stats::quantile,
    time::Stopwatch,
};

const PAUSE: Duration = Duration::from_secs(1);
/// Longer than `PAUSE`, because each reading is a request that the load loses.
const MODULE_PAUSE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
pub struct Sample {
    pub at_s: f64,
    pub bytes: f64,
}

/// A figure over time.
#[derive(Clone, Default)]
pub struct Series(pub Vec<Sample>);

impl Series {
    /// The median between two times.
    pub fn median(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let within = self.0.iter().filter(|sample| (from_s..to_s).contains(&sample.at_s));
        let mut bytes: Vec<f64> = within.map(|sample| sample.bytes).collect();
        bytes.sort_by(f64::total_cmp);
        quantile(&bytes, 0.5)
    }

    /// The medians of each third between two times.
    pub fn thirds(&self, from_s: f64, to_s: f64) -> [f64; 3] {
        let within = self.0.iter().filter(|sample| (from_s..=to_s).contains(&sample.at_s));
        let bytes: Vec<f64> = within.map(|sample| sample.bytes).collect();
        let cut = |n: usize| bytes.len() * n / 3;
        [0, 1, 2].map(|n| {
            let mut third = bytes[cut(n)..cut(n + 1)].to_vec();
            third.sort_by(f64::total_cmp);
            quantile(&third, 0.5).unwrap_or(0.0)
        })
    }

    pub fn most(&self, from_s: f64) -> f64 {
        let since = self.0.iter().filter(|sample| sample.at_s >= from_s);
        since.map(|sample| sample.bytes).fold(0.0, f64::max)
    }

    fn last(&self) -> f64 {
        self.0.last().map_or(0.0, |sample| sample.bytes)
    }
}

#[derive(Clone, Default)]
pub struct Memory {
    pub process: Series,
    pub module: Series,
    pub heap: Series,
}

impl Memory {
    pub fn summary(&self) -> String {
        format!(
            "process {}, module {}, V8 {}",
            megabytes(self.process.last()),
            megabytes(self.module.last()),
            megabytes(self.heap.last())
        )
    }
}

pub struct Watch {
    since: Stopwatch,
    samples: Mutex<Memory>,
    ended: AtomicBool,
}

impl Watch {
    pub fn start() -> Self {
        Self { since: Stopwatch::start(), samples: Mutex::default(), ended: AtomicBool::new(false) }
    }

    pub fn now(&self) -> f64 {
        self.since.seconds()
    }

    pub fn samples(&self) -> Memory {
        self.samples.lock().expect("memory").clone()
    }

    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Samples the kernel's figure until the end.
    pub fn watch_process(&self, signpost: &Signpost) {
        while !self.ended.load(Ordering::Relaxed) {
            let sample = self.sample(resident(signpost.process()));
            self.samples.lock().expect("memory").process.0.push(sample);
            thread::sleep(PAUSE);
        }
    }

    /// Samples the modules' metrics until the end.
    pub fn watch_module(&self, signpost: &Signpost) {
        while !self.ended.load(Ordering::Relaxed) {
            let module = module(signpost).map(|bytes| self.sample(bytes));
            self.samples.lock().expect("memory").module.0.extend(module);
            thread::sleep(MODULE_PAUSE);
        }
    }

    /// Samples V8's memory of both Workers and keeps the larger. Runs only without load: workerd answers the
    /// inspector between two requests, and at the limit there is no such moment.
    pub fn ask_v8(&self, signpost: &Signpost) {
        let larger = ["edge", "origin"]
            .map(|worker| inspector::heap(signpost, worker))
            .map(|heap| heap.reserved + heap.buffers)
            .into_iter()
            .fold(0.0, f64::max);
        let sample = self.sample(larger);
        self.samples.lock().expect("memory").heap.0.push(sample);
    }

    fn sample(&self, bytes: f64) -> Sample {
        Sample { at_s: self.now(), bytes }
    }
}

fn resident(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kib = status.lines().find_map(|line| {
        let kib = line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?;
        kib.parse::<f64>().ok()
    });
    kib.unwrap_or(0.0) * 1024.0
}

fn module(signpost: &Signpost) -> Option<f64> {
    metric(signpost, "wasm_memory_bytes")
}

/// A metric of an isolate, by name and labels: the larger of the two Workers' values.
pub fn metric(signpost: &Signpost, name: &str) -> Option<f64> {
    let authorization = format!("Bearer {METRICS_TOKEN}");
    let headers = [("Authorization", authorization.as_str())];
    let name = format!("signpost_isolate_{name} ");
    let found = ["/metrics", "/v1/operator/metrics"].into_iter().filter_map(|path| {
        let answer = signpost.try_send("GET", path, &headers, b"").ok()?;
        let mut lines = answer.body.lines();
        lines.find_map(|line| line.strip_prefix(&name)?.parse().ok())
    });
    found.max_by(f64::total_cmp)
}

/// The size of a folder with its contents, in bytes.
pub fn disk(folder: &Path) -> f64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0.0;
    };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => disk(&entry.path()),
        Ok(about) => about.len() as f64,
        Err(_) => 0.0,
    };
    entries.flatten().map(size).sum()
}

/// Bytes in megabytes of a million.
pub fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}
