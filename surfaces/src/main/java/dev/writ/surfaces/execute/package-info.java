/** The execution gateway of seed 000 (spec/surface-execute.md). */
package dev.writ.surfaces.execute;
