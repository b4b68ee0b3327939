//! Writing of matrices as text, in formats that can be read back.

use std::fmt::Write as _;

use super::Matrix;

impl Matrix {
    /// Returns the matrix as CSV: a line of quoted names if the parties have names, then a line of
    /// numbers for each sender.
    ///
    /// The run time is quadratic in the number of parties, even if there are few entries.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Matrix;
    /// let names = vec!["left".to_owned(), "right, lower".to_owned()];
    /// let mut matrix = Matrix::new(2).with_names(names)?;
    /// matrix.add(0, 1, 40.0);
    /// assert_eq!(matrix.to_csv(), "\"left\",\"right, lower\"\n0,40\n0,0\n");
    /// assert_eq!(Matrix::from_bytes(matrix.to_csv().as_bytes(), "csv")?, matrix);
    /// # Ok::<(), raddle_topology::MatrixError>(())
    /// ```
    #[must_use]
    pub fn to_csv(&self) -> String {
        let order = self.order();
        let mut text = String::new();
        // A single name is not written, since with blanks it would be read as several.
        if order > 1 && !self.names().is_empty() {
            let quoted = |name: &String| format!("\"{}\"", on_one_line(name).replace('"', "\"\""));
            let names: Vec<_> = self.names().iter().map(quoted).collect();
            text = names.join(",") + "\n";
        }
        for from in 0..order {
            let mut row = vec![0.0; order];
            self.row(from).for_each(|(to, bytes)| row[to] = bytes);
            let row: Vec<_> = row.iter().map(f64::to_string).collect();
            text += &row.join(",");
            text.push('\n');
        }
        text
    }

    /// Returns the matrix as a Matrix Market file of coordinates.
    ///
    /// The format has no names. The names of parties are comments, one per line.
    ///
    /// # Source
    /// The same as for [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn to_matrix_market(&self) -> String {
        let order = self.order();
        let mut text = "%%MatrixMarket matrix coordinate real general\n".to_owned();
        // Writing to a string cannot fail.
        for (party, name) in self.names().iter().enumerate() {
            let _infallible = writeln!(text, "% {}: {}", party + 1, on_one_line(name));
        }
        let _infallible = writeln!(text, "{order} {order} {}", self.entry_count());
        for (from, to, bytes) in self.entries() {
            let _infallible = writeln!(text, "{} {} {bytes}", from + 1, to + 1);
        }
        text
    }
}

/// Replaces control characters by blanks.
fn on_one_line(name: &str) -> String {
    name.replace(char::is_control, " ")
}
