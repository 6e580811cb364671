/// So many values at most, each under a key: those asked for last.
pub(crate) struct Recent<K, V> {
    /// The latest first.
    kept: Vec<(K, V)>,
    most: usize,
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    pub(crate) const fn new(most: usize) -> Recent<K, V> {
        Recent { kept: Vec::new(), most }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        let at = self.kept.iter().position(|(known, _)| known == key)?;
        self.kept[..=at].rotate_right(1);
        Some(self.kept[0].1.clone())
    }

    pub(crate) fn put(&mut self, key: K, value: V) {
        self.kept.truncate(self.most - 1);
        self.kept.insert(0, (key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_last_is_kept() {
        let mut recent = Recent::new(3);
        for key in 0..3 {
            recent.put(key, key * 10);
        }
        assert_eq!(recent.get(&0), Some(0)); // which makes 1 the oldest
        recent.put(3, 30);
        assert_eq!([0, 1, 2, 3].map(|key| recent.get(&key)), [Some(0), None, Some(20), Some(30)]);
        for key in 4..1000 {
            recent.put(key, 0);
            assert_eq!(recent.kept.len(), 3);
        }
    }
}
