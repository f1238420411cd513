/** The tool gateway of seed 002 (spec/surface-tools.md). */
package dev.writ.surfaces.tools;
