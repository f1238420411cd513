/** The remote executor of seed 001 (spec/surface-logline.md). */
package dev.writ.surfaces.logline;
