//! Tables for tests.

/// The cells of a row of a table, which `|` separates.
pub fn cells<const N: usize>(row: &str) -> [&str; N] {
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    cells.try_into().unwrap_or_else(|_| panic!("a row has {N} cells: {row}"))
}
