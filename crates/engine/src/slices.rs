//! Many byte strings in one allocation.

/// Byte strings laid end to end in one buffer, with the offset at which each ends.
///
/// This is the currency of the contract: a batch of a million keys is two allocations, and clearing
/// it keeps both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slices {
    data: Vec<u8>,
    ends: Vec<usize>,
}

impl Slices {
    /// No byte strings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Room for `count` byte strings of `bytes` in all.
    pub fn with_capacity(count: usize, bytes: usize) -> Self {
        Self { data: Vec::with_capacity(bytes), ends: Vec::with_capacity(count) }
    }

    /// Takes a finished buffer and the end offset of each byte string in it, in ascending order;
    /// the last one is the length of the buffer.
    ///
    /// # Panics
    /// If the ends do not fit the buffer.
    pub fn from_parts(data: Vec<u8>, ends: Vec<usize>) -> Self {
        assert!(ends.is_sorted(), "ends must ascend");
        assert_eq!(
            ends.last().copied().unwrap_or(0),
            data.len(),
            "the last end must be the length of the data"
        );
        Self { data, ends }
    }

    /// How many byte strings there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of all of them together.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.data.len()
    }

    /// The byte string at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.data[self.start(index)..self.ends[index]]
    }

    #[inline]
    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    /// The last byte string, if any.
    pub fn last(&self) -> Option<&[u8]> {
        self.len().checked_sub(1).map(|index| self.get(index))
    }

    /// Appends one byte string.
    #[inline]
    pub fn push(&mut self, slice: &[u8]) {
        self.data.extend_from_slice(slice);
        self.ends.push(self.data.len());
    }

    /// Appends several parts as one byte string.
    #[inline]
    pub fn push_parts(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.data.extend_from_slice(part);
        }
        self.ends.push(self.data.len());
    }

    /// Appends one byte string that `write` appends to the buffer it is given. On an error nothing
    /// is appended.
    pub fn push_with<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let start = self.data.len();
        match write(&mut self.data) {
            Ok(()) => {
                debug_assert!(self.data.len() >= start, "push_with may only append");
                self.ends.push(self.data.len());
                Ok(())
            }
            Err(error) => {
                self.data.truncate(start);
                Err(error)
            }
        }
    }

    /// Forgets all byte strings but keeps the memory.
    pub fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
    }

    /// Keeps the first `len` byte strings.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.ends.truncate(len);
            self.data.truncate(self.ends.last().copied().unwrap_or(0));
        }
    }

    /// All byte strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The buffer and the end offsets, for columnar code that reads across byte strings.
    pub fn as_parts(&self) -> (&[u8], &[usize]) {
        (&self.data, &self.ends)
    }

    /// Memory in use, for callers that keep to a budget.
    pub fn memory_bytes(&self) -> usize {
        self.data.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

impl<'a> FromIterator<&'a [u8]> for Slices {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(slices: I) -> Self {
        let mut all = Slices::new();
        slices.into_iter().for_each(|slice| all.push(slice));
        all
    }
}
