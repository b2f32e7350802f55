//! A Rust program with /debug/pprof/, labels on its samples and a profile of
//! its own things, through libpprof's C functions.
//!
//!     rustc -O -g service.rs -L /usr/lib -l pprof-hooks
//!     ./service 127.0.0.1:6060 &
//!     pprof -top http://127.0.0.1:6060/debug/pprof/profile?seconds=5
//!     pprof -tags http://127.0.0.1:6060/debug/pprof/profile?seconds=5
//!     pprof -top http://127.0.0.1:6060/debug/pprof/mutex
//!     pprof -top http://127.0.0.1:6060/debug/pprof/sessions
//!
//! With cargo, build.rs prints `cargo:rustc-link-lib=pprof-hooks`.
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_longlong, c_uint, c_void};
use std::sync::Mutex;
use std::time::Duration;
use std::{env, process, ptr, thread};

/// What <pprof/pprof.h> declares, as far as it is needed here.
mod ffi {
    use super::*;

    #[repr(C)]
    pub struct Profile {
        _private: [u8; 0],
    }

    extern "C" {
        pub fn pprof_serve(address: *const c_char) -> c_int;
        pub fn pprof_last_error() -> *const c_char;
        pub fn pprof_label_push(key: *const c_char, value: *const c_char) -> c_uint;
        pub fn pprof_label_pop(mark: c_uint);
        pub fn pprof_profile_new(name: *const c_char) -> *mut Profile;
        pub fn pprof_profile_add(profile: *mut Profile, key: *const c_void, value: c_longlong) -> c_int;
        pub fn pprof_profile_remove(profile: *mut Profile, key: *const c_void) -> c_int;
    }
}

fn serve(address: Option<&str>) -> Result<(), String> {
    let address = address.map(|a| CString::new(a).expect("no NUL in an address"));
    let p = address.as_ref().map_or(ptr::null(), |a| a.as_ptr());

    if unsafe { ffi::pprof_serve(p) } == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(ffi::pprof_last_error()) }.to_string_lossy().into_owned())
}

/// Samples of this thread carry the label until it is dropped.  Labels are
/// per thread, so this must not be sent to another one.
struct Label {
    mark: c_uint,
    _not_send: std::marker::PhantomData<*const ()>,
}

impl Label {
    fn new(key: &str, value: &str) -> Label {
        let (key, value) = (CString::new(key).unwrap(), CString::new(value).unwrap());

        Label {
            mark: unsafe { ffi::pprof_label_push(key.as_ptr(), value.as_ptr()) },
            _not_send: std::marker::PhantomData,
        }
    }
}

impl Drop for Label {
    fn drop(&mut self) {
        unsafe { ffi::pprof_label_pop(self.mark) }
    }
}

/// A profile of things that are there now, with the stacks that made them.
struct Profile(*mut ffi::Profile);

unsafe impl Sync for Profile {} // all its functions may be called anywhere
unsafe impl Send for Profile {}

impl Profile {
    fn new(name: &str) -> Profile {
        let name = CString::new(name).unwrap();

        Profile(unsafe { ffi::pprof_profile_new(name.as_ptr()) })
    }

    fn add(&self, key: usize) {
        unsafe { ffi::pprof_profile_add(self.0, key as *const c_void, 1) };
    }

    fn remove(&self, key: usize) {
        unsafe { ffi::pprof_profile_remove(self.0, key as *const c_void) };
    }
}

struct Server {
    cache: Mutex<HashMap<u64, u64>>,
    sessions: Profile,
}

#[inline(never)]
fn compute(seed: u64) -> u64 {
    (0..200_000).fold(seed, |h, i| (h ^ i).wrapping_mul(1099511628211))
}

#[inline(never)]
fn open_session(server: &Server, worker: usize, turn: usize) -> usize {
    let id = 1 + worker * 100 + turn % 10; // a key must not be 0

    if turn >= 10 {
        server.sessions.remove(id);
    }
    server.sessions.add(id);
    id
}

#[inline(never)]
fn handle_search(server: &Server, id: usize) {
    let _label = Label::new("request", "search");
    let mut cache = server.cache.lock().unwrap();
    let n = cache.len() as u64;

    cache.insert(n % 64, compute(id as u64)); // held too long, as mutex shows
}

#[inline(never)]
fn handle_report(server: &Server, id: usize) -> u64 {
    let _label = Label::new("request", "report");
    let sum = server.cache.lock().unwrap().values().fold(0, |a, b| a ^ b);

    compute(sum ^ id as u64)
}

fn work(server: &Server, worker: usize) {
    for turn in 0.. {
        let id = open_session(server, worker, turn);

        handle_search(server, id);
        std::hint::black_box(handle_report(server, id));
        thread::sleep(Duration::from_millis(1));
    }
}

fn main() {
    let address = env::args().nth(1);
    let server = Server { cache: Mutex::new(HashMap::new()), sessions: Profile::new("sessions") };

    if let Err(text) = serve(address.as_deref()) {
        eprintln!("service: {}", text);
        process::exit(1);
    }
    thread::scope(|s| {
        for worker in 0..3 {
            let server = &server;

            s.spawn(move || work(server, worker));
        }
    });
}
