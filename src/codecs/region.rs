//! Boxes in arrays: pieces of C-ordered bytes put where they belong.

/// Copies a whole piece into the box of `target` that begins at `origin`.
///
/// Both are in C order, of elements of `size` bytes. The caller sees to it that the box lies inside, and that the slices are
/// as long as their shapes say.
pub(super) fn place(
    piece: &[u8],
    piece_shape: &[u64],
    target: &mut [u8],
    target_shape: &[u64],
    origin: &[u64],
    size: usize,
) {
    if piece.is_empty() {
        return;
    }
    let run = run_bytes(piece_shape, target_shape, size);
    let starts = run_starts(piece_shape, target_shape, origin, size);
    for (source, start) in piece.chunks_exact(run.max(1)).zip(starts) {
        target[start..start + run].copy_from_slice(source);
    }
}

/// Copies a piece out of the box of `source` that begins at `origin`: what [`place`] undoes.
pub(super) fn take(
    source: &[u8],
    source_shape: &[u64],
    piece_shape: &[u64],
    origin: &[u64],
    size: usize,
) -> Vec<u8> {
    let elements: u64 = piece_shape.iter().product();
    let mut piece = vec![0; usize_of(elements) * size];
    let run = run_bytes(piece_shape, source_shape, size);
    let starts = run_starts(piece_shape, source_shape, origin, size);
    for (target, start) in piece.chunks_exact_mut(run.max(1)).zip(starts) {
        target.copy_from_slice(&source[start..start + run]);
    }
    piece
}

/// The number of dimensions that tell runs apart: those from the last one on that the piece spans make one run, and so does the
/// one before them.
fn outer_rank(piece_shape: &[u64], whole_shape: &[u64]) -> usize {
    let mut partial = piece_shape.iter().zip(whole_shape);
    partial
        .rposition(|(piece, whole)| piece != whole)
        .unwrap_or(0)
}

/// The bytes of a run: of the elements of a piece that lie together in the whole.
fn run_bytes(piece_shape: &[u64], whole_shape: &[u64], size: usize) -> usize {
    let inner = &piece_shape[outer_rank(piece_shape, whole_shape)..];
    inner
        .iter()
        .fold(size, |run, length| run * usize_of(*length))
}

/// Where the runs of a piece begin in the whole, in bytes, in C order.
fn run_starts(
    piece_shape: &[u64],
    whole_shape: &[u64],
    origin: &[u64],
    size: usize,
) -> impl Iterator<Item = usize> {
    let outer = &piece_shape[..outer_rank(piece_shape, whole_shape)];
    let mut at = vec![0; outer.len()];
    std::iter::from_fn(move || {
        let mut offset = 0;
        for (axis, (length, origin)) in whole_shape.iter().zip(origin).enumerate() {
            let inside = at.get(axis).copied().unwrap_or(0);
            offset = offset * usize_of(*length) + usize_of(origin + inside);
        }
        advance(&mut at, outer);
        Some(offset * size)
    })
}

/// Goes on to the next index of a grid in C order; back to the first after the last.
pub(super) fn advance(index: &mut [u64], grid: &[u64]) {
    for (at, length) in index.iter_mut().zip(grid).rev() {
        *at += 1;
        if *at < *length {
            return;
        }
        *at = 0;
    }
}

/// The index that comes at place `n` of a grid in C order, counted from 0.
pub(super) fn index_at(n: u64, grid: &[u64]) -> Vec<u64> {
    let mut rest = n;
    let mut index = vec![0; grid.len()];
    for (at, length) in index.iter_mut().zip(grid).rev() {
        *at = rest % (*length).max(1);
        rest /= (*length).max(1);
    }
    index
}

/// The number of elements, or of chunks, if it can be told.
pub(super) fn product(lengths: impl IntoIterator<Item = u64>) -> Option<u64> {
    lengths.into_iter().try_fold(1_u64, u64::checked_mul)
}

/// Lengths of what is in memory fit the address space.
fn usize_of(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(piece: &[u64], target: &[u64], origin: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0; product(target.iter().copied()).unwrap() as usize];
        let piece_bytes: Vec<u8> = (1..)
            .take(product(piece.iter().copied()).unwrap() as usize)
            .collect();
        place(&piece_bytes, piece, &mut bytes, target, origin, 1);
        bytes
    }

    #[test]
    fn pieces_land_in_their_boxes() {
        assert_eq!(
            placed(&[2, 2], &[3, 4], &[1, 2]),
            [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4]
        );
        assert_eq!(
            placed(&[2, 4], &[3, 4], &[1, 0]),
            [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
        );
        assert_eq!(placed(&[3, 1], &[3, 2], &[0, 1]), [0, 1, 0, 2, 0, 3]);
        assert_eq!(
            placed(&[1, 2, 1], &[2, 2, 2], &[1, 0, 1]),
            [0, 0, 0, 0, 0, 1, 0, 2]
        );
        assert_eq!(placed(&[], &[], &[]), [1]);
        assert_eq!(placed(&[2], &[2], &[0]), [1, 2]);
    }

    #[test]
    fn wide_elements_stay_whole() {
        let mut target = [0; 8];
        place(&[1, 2, 3, 4], &[2, 1], &mut target, &[2, 2], &[0, 1], 2);
        assert_eq!(target, [0, 0, 1, 2, 0, 0, 3, 4]);
    }

    #[test]
    fn what_was_placed_is_taken_out_again() {
        for (piece, whole, origin) in [
            (vec![2, 2], vec![3, 4], vec![1, 2]),
            (vec![2, 4], vec![3, 4], vec![1, 0]),
            (vec![1, 2, 1], vec![2, 2, 2], vec![1, 0, 1]),
            (vec![], vec![], vec![]),
        ] {
            let elements: u64 = piece.iter().product();
            let bytes: Vec<u8> = (1..=elements as u8).flat_map(|n| [n, 100 + n]).collect();
            let mut target = vec![0; 2 * whole.iter().product::<u64>() as usize];
            place(&bytes, &piece, &mut target, &whole, &origin, 2);
            assert_eq!(take(&target, &whole, &piece, &origin, 2), bytes);
        }
    }

    #[test]
    fn grids_are_walked_in_c_order() {
        let mut index = [0, 0];
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(index);
            advance(&mut index, &[2, 2]);
        }
        assert_eq!(seen, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(index, [0, 0]);
        for (n, index) in (0..).zip(seen) {
            assert_eq!(index_at(n, &[2, 2]), index);
        }
        assert_eq!(index_at(0, &[]), [0; 0]);
    }
}
