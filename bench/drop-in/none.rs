//! Nothing: this package only names the programs.
