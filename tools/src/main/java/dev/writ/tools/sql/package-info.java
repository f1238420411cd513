/** SQL over inputs, with SQLite inside WebAssembly (spec/tool-sql.md). */
package dev.writ.tools.sql;
