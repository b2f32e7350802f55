use std::collections::HashMap;

struct Counter<T> {
    seen: HashMap<T, usize>,
}

impl<T: std::hash::Hash + Eq + Clone> Counter<T> {
    fn add(&mut self, x: &T) {
        *self.seen.entry(x.clone()).or_insert(0) += 1;
    }
}

fn main() {
    let mut c = Counter { seen: HashMap::new() };
    for w in "a b a c".split_whitespace() {
        c.add(&w.to_string());
    }
    let mut all: Vec<_> = c.seen.iter().map(|(k, v)| (v, k)).collect();
    all.sort_by(|a, b| b.cmp(a));
    println!("{:?}", all);
}
