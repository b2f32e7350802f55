// Waits of Rust's std whose number and length are known.
//
// usage: rust_waits KIND ROUNDS HOLD_MS
//
// Two threads meet ROUNDS times; one holds what the other wants for HOLD_MS.
// Prints "count waited_ns caused_ns": what the clock says of the waits, from
// their begin to their end, and to the moment of the release.
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Barrier, Condvar, Mutex, MutexGuard, Once, RwLock};
use std::time::{Duration, Instant};
use std::{env, thread};

static WAITED: AtomicU64 = AtomicU64::new(0);
static CAUSED: AtomicU64 = AtomicU64::new(0);

fn since(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}

/// When the waiter begins to wait, for both sides.
struct Round {
    start: Mutex<Option<Instant>>,
}

impl Round {
    fn begin(&self) -> Instant {
        let now = Instant::now();
        *self.start.lock().unwrap() = Some(now);
        now
    }

    fn waited(&self, start: Instant) {
        WAITED.fetch_add(since(start), SeqCst);
    }

    fn released(&self) {
        if let Some(start) = *self.start.lock().unwrap() {
            CAUSED.fetch_add(since(start), SeqCst);
        }
    }
}

#[inline(never)]
fn release_mutex(guard: MutexGuard<u64>) {
    drop(black_box(guard));
}

#[inline(never)]
fn wait_for_mutex(m: &Mutex<u64>) {
    *black_box(m).lock().unwrap() += 1;
    black_box(());
}

#[inline(never)]
fn wait_to_read(l: &RwLock<u64>) -> u64 {
    let value = *black_box(l).read().unwrap();
    black_box(value)
}

#[inline(never)]
fn wait_to_write(l: &RwLock<u64>) {
    *black_box(l).write().unwrap() += 1;
    black_box(());
}

#[inline(never)]
fn release_lock<T>(guard: T) {
    drop(black_box(guard));
}

#[inline(never)]
fn wait_for_news(m: &Mutex<u64>, c: &Condvar) {
    let mut guard = m.lock().unwrap();
    while *guard == 0 {
        guard = c.wait(guard).unwrap();
    }
    *guard = 0;
}

#[inline(never)]
fn bring_news(m: &Mutex<u64>, c: &Condvar) {
    *m.lock().unwrap() = 1;
    black_box(c).notify_one();
    black_box(());
}

#[inline(never)]
fn wait_for_once(once: &Once) {
    black_box(once).call_once(|| panic!("too early"));
    black_box(());
}

#[inline(never)]
fn wait_parked(flag: &AtomicBool) {
    while !flag.swap(false, SeqCst) {
        thread::park();
    }
}

#[inline(never)]
fn unpark_it(flag: &AtomicBool, thread: &thread::Thread) {
    flag.store(true, SeqCst);
    black_box(thread).unpark();
    black_box(());
}

/// `hold` takes something, waits for the moment, and lets go; `wait` wants it.
fn meet(rounds: u64, wait: impl Fn(u64) + Sync, hold: impl Fn(u64, &dyn Fn()) + Sync, hold_ms: u64) {
    let round = Round { start: Mutex::new(None) };
    let held = Barrier::new(2);
    let over = Barrier::new(2);

    thread::scope(|s| {
        s.spawn(|| {
            for i in 0..rounds {
                held.wait();
                let start = round.begin();
                wait(i);
                round.waited(start);
                over.wait();
            }
        });
        for i in 0..rounds {
            hold(i, &|| {
                held.wait();
                thread::sleep(Duration::from_millis(hold_ms));
                round.released();
            });
            over.wait();
            *round.start.lock().unwrap() = None;
        }
    });
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let rounds: u64 = args[2].parse().unwrap();
    let hold_ms: u64 = args[3].parse().unwrap();
    let mutex = Mutex::new(0);
    let rwlock = RwLock::new(0);
    let condvar = Condvar::new();
    let flag = AtomicBool::new(false);
    let onces: Vec<Once> = (0..rounds).map(|_| Once::new()).collect();
    let parked = Mutex::new(None);

    match args[1].as_str() {
        "mutex" => meet(rounds, |_| wait_for_mutex(&mutex), |_, pause| {
            let guard = mutex.lock().unwrap();
            pause();
            release_mutex(guard);
        }, hold_ms),
        "read" => meet(rounds, |_| { wait_to_read(&rwlock); }, |_, pause| {
            let guard = rwlock.write().unwrap();
            pause();
            release_lock(guard);
        }, hold_ms),
        "write" => meet(rounds, |_| wait_to_write(&rwlock), |_, pause| {
            let guard = rwlock.read().unwrap();
            pause();
            release_lock(guard);
        }, hold_ms),
        "condvar" => meet(rounds, |_| wait_for_news(&mutex, &condvar), |_, pause| {
            pause();
            bring_news(&mutex, &condvar);
        }, hold_ms),
        "once" => meet(rounds, |i| wait_for_once(&onces[i as usize]), |i, pause| {
            onces[i as usize].call_once(|| pause());
        }, hold_ms),
        "park" => meet(rounds, |_| {
            *parked.lock().unwrap() = Some(thread::current());
            wait_parked(&flag)
        }, |_, pause| {
            pause();
            unpark_it(&flag, parked.lock().unwrap().as_ref().unwrap());
        }, hold_ms),
        other => panic!("no such kind: {}", other),
    }
    println!("{} {} {}", rounds, WAITED.load(SeqCst), CAUSED.load(SeqCst));
}
