// Sorts a table by the column whose heading is clicked; again, in the other direction.
for (const table of document.querySelectorAll("table")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => heading.firstChild.addEventListener("click", () => {
    const descends = heading.ariaSort !== "descending";
    const text = (row) => row.cells[column].textContent;
    const rows = [...table.tBodies[0].rows];
    rows.sort((one, other) => {
      const [a, b] = [text(one), text(other)];
      const difference = a !== "" && b !== "" && !isNaN(a) && !isNaN(b)
        ? Number(a) - Number(b) : a.localeCompare(b);
      return descends ? -difference : difference;
    });
    headings.forEach((other) => other.removeAttribute("aria-sort"));
    heading.ariaSort = descends ? "descending" : "ascending";
    table.tBodies[0].append(...rows);
  }));
}
