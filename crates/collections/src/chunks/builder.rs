//! A builder for an array to which tasks hand in chunks in any order.

use raddle_sync::prim::Mutex;
use thiserror::Error;

use super::ChunkedArray;

/// A builder of a chunked array: a slot for each chunk, which any task may fill.
///
/// # Examples
/// ```
/// use raddle_collections::ChunkedArray;
///
/// let builder = ChunkedArray::builder(3);
/// raddle_runtime::scope(|scope| {
///     for task in 0..3 {
///         let builder = &builder;
///         scope.spawn(move || builder.set(task, vec![task; 2]));
///     }
/// });
/// assert_eq!(builder.finish().unwrap(), [0, 0, 1, 1, 2, 2]);
/// ```
#[derive(Debug)]
pub struct ChunkedArrayBuilder<T> {
    /// Each lock is taken once, without waiting, because one task sets each chunk.
    places: Vec<Mutex<Option<Vec<T>>>>,
}

/// Some chunks of an array were never set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{missing} of {chunk_count} chunks were never set, the first of them is chunk {first}")]
#[non_exhaustive]
pub struct MissingChunks {
    /// The index of the first chunk that was never set.
    pub first: usize,
    /// The number of chunks that were never set.
    pub missing: usize,
    /// The number of chunks that the array was to have.
    pub chunk_count: usize,
}

impl<T> ChunkedArray<T> {
    /// Begins an array of `chunk_count` chunks, each of which a task hands in when it is ready.
    #[must_use]
    pub fn builder(chunk_count: usize) -> ChunkedArrayBuilder<T> {
        ChunkedArrayBuilder {
            places: (0..chunk_count).map(|_| Mutex::new(None)).collect(),
        }
    }
}

impl<T> ChunkedArrayBuilder<T> {
    /// Returns the number of chunks that the array will have.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.places.len()
    }

    /// Hands in a chunk. No element is moved, and calls for different chunks do not contend.
    ///
    /// # Panics
    /// When there is no such chunk, or it has been set before.
    pub fn set(&self, chunk: usize, items: Vec<T>) {
        let Some(place) = self.places.get(chunk) else {
            panic!(
                "there is no chunk {chunk}: the array has {}",
                self.chunk_count()
            );
        };
        let len = items.len();
        let mut place = place.lock().expect("nothing panics under this lock");
        let Some(before) = &*place else {
            *place = Some(items);
            return;
        };
        let len_before = before.len();
        drop(place);
        panic!(
            "chunk {chunk} is set twice: to {len_before} elements before, to {len} elements now"
        );
    }

    /// Creates the array from the chunks that were handed in.
    ///
    /// # Errors
    /// [`MissingChunks`] when a chunk was never set. The chunks that were set are dropped.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let builder = ChunkedArray::builder(2);
    /// builder.set(1, vec!['b']);
    /// let error = builder.finish().unwrap_err();
    /// assert_eq!(error.to_string(), "1 of 2 chunks were never set, the first of them is chunk 0");
    /// ```
    pub fn finish(self) -> Result<ChunkedArray<T>, MissingChunks> {
        let chunk_count = self.chunk_count();
        let chunks: Vec<Option<Vec<T>>> = self
            .places
            .into_iter()
            .map(|place| {
                place
                    .into_inner()
                    .expect("nothing panics under these locks")
            })
            .collect();
        match chunks.iter().position(Option::is_none) {
            None => Ok(ChunkedArray::from_chunks(chunks.into_iter().flatten())),
            Some(first) => Err(MissingChunks {
                first,
                missing: chunks.iter().filter(|chunk| chunk.is_none()).count(),
                chunk_count,
            }),
        }
    }
}
