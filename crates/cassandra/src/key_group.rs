//! Groups keys into requests: keys of one partition, or of several partitions of one node.
//!
//! A request costs more than a row that it finds. So partitions with few keys share requests: `p IN
//! (...) AND c IN (...)`. Cassandra then searches each partition for all keys. A key belongs to one
//! partition only, so nothing is found twice.

use std::collections::HashMap;
use std::sync::Arc;

use scylla::cluster::Node;
use tonnage_engine::Slices;

use crate::bucket::Bucket;

/// The most partitions times keys of a request for several partitions: each pair is searched for,
/// and ScyllaDB refuses more.
const PAIRS_MAX: usize = 100;

/// The keys that one request looks up.
pub(crate) struct KeyGroup {
    /// The node that has all its partitions, if there are several.
    pub(crate) node: Option<Arc<Node>>,
    pub(crate) buckets: Vec<Bucket>,
    /// The indexes of its keys, in the order of the keys.
    pub(crate) indexes: Vec<usize>,
}

impl KeyGroup {
    fn on(node: Option<Arc<Node>>) -> Self {
        Self { node, buckets: Vec::new(), indexes: Vec::new() }
    }

    fn has_room(&self, keys: usize) -> bool {
        (self.buckets.len() + 1) * (self.indexes.len() + keys) <= PAIRS_MAX
    }

    fn take(&mut self, of_partition: &[(Bucket, usize)]) {
        self.buckets.extend(of_partition.first().map(|(bucket, _)| *bucket));
        self.indexes.extend(of_partition.iter().map(|(_, index)| *index));
    }

    /// Each partition alone. The keys are sorted by partition, then by key.
    pub(crate) fn alone(order: &[(Bucket, usize)]) -> Vec<KeyGroup> {
        let group = |of_partition: &[(Bucket, usize)]| {
            let mut group = KeyGroup::on(None);
            group.take(of_partition);
            group
        };
        order.chunk_by(|left, right| left.0 == right.0).map(group).collect()
    }

    /// Partitions with few keys together with others of their node, in the same order.
    pub(crate) fn by_node(
        keys: &Slices,
        order: &[(Bucket, usize)],
        node_of: impl Fn(Bucket) -> Option<Arc<Node>>,
    ) -> Vec<KeyGroup> {
        let (mut full, mut open) = (Vec::new(), HashMap::new());
        for of_partition in order.chunk_by(|left, right| left.0 == right.0) {
            let node = node_of(of_partition[0].0);
            let name = node.as_ref().map(|node| node.host_id);
            let group = open.entry(name).or_insert_with(|| KeyGroup::on(node.clone()));
            if !group.buckets.is_empty() && !group.has_room(of_partition.len()) {
                full.push(std::mem::replace(group, KeyGroup::on(node)));
            }
            group.take(of_partition);
        }
        full.extend(open.into_values());
        for group in full.iter_mut().filter(|group| group.buckets.len() > 1) {
            group.indexes.sort_unstable_by_key(|index| keys.get(*index));
        }
        full
    }

    /// Its keys, each once.
    pub(crate) fn wanted<'a>(&self, keys: &'a Slices) -> Vec<&'a [u8]> {
        let mut wanted: Vec<_> = self.indexes.iter().map(|index| keys.get(*index)).collect();
        wanted.dedup();
        wanted
    }

    /// The indexes at which a key was asked for.
    pub(crate) fn indexes_of(&self, keys: &Slices, key: &[u8]) -> impl Iterator<Item = usize> {
        let first = self.indexes.partition_point(|index| keys.get(*index) < key);
        let from_first = self.indexes[first..].iter().copied();
        from_first.take_while(move |index| keys.get(*index) == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of two bytes, the first of which is their partition.
    fn keys(named: &[[u8; 2]]) -> (Slices, Vec<(Bucket, usize)>) {
        let mut keys = Slices::new();
        named.iter().for_each(|key| keys.push(key));
        let mut order: Vec<_> =
            named.iter().enumerate().map(|(at, key)| (Bucket(u32::from(key[0])), at)).collect();
        order.sort_by_key(|(_, index)| named[*index]);
        (keys, order)
    }

    #[test]
    fn partitions_share_a_request_until_it_searches_for_a_hundred_pairs() {
        let named: Vec<_> = (0..25).map(|partition| [partition, 7]).collect();
        let (keys, order) = keys(&named);
        let groups = KeyGroup::by_node(&keys, &order, |_| None);
        let sizes: Vec<_> = groups.iter().map(|group| group.buckets.len()).collect();
        assert_eq!(sizes, [10, 10, 5]);
        assert!(KeyGroup::alone(&order).iter().all(|group| group.buckets.len() == 1));
    }

    #[test]
    fn a_partition_with_many_keys_goes_alone() {
        let mut named: Vec<_> = (0..200).map(|key| [5, key]).collect();
        named.extend([[3, 0], [4, 0], [6, 0]]);
        let (keys, order) = keys(&named);
        let groups = KeyGroup::by_node(&keys, &order, |_| None);
        let sizes: Vec<_> =
            groups.iter().map(|group| (group.buckets.len(), group.indexes.len())).collect();
        assert_eq!(sizes, [(2, 2), (1, 200), (1, 1)]);
    }

    #[test]
    fn a_key_is_found_wherever_it_was_asked_for() {
        let (keys, order) = keys(&[[9, 1], [2, 8], [9, 1], [2, 3], [9, 0]]);
        let groups = KeyGroup::by_node(&keys, &order, |_| None);
        let [group] = &groups[..] else { panic!("{} groups", groups.len()) };
        assert_eq!(group.wanted(&keys), [&[2, 3][..], &[2, 8], &[9, 0], &[9, 1]]);
        let mut twice: Vec<_> = group.indexes_of(&keys, &[9, 1]).collect();
        twice.sort_unstable();
        assert_eq!(twice, [0, 2]);
        assert_eq!(group.indexes_of(&keys, &[2, 4]).count(), 0);
    }
}
