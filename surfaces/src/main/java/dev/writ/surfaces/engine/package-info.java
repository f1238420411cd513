/** The universal contract of seed 004 (spec/surface-engine.md). */
package dev.writ.surfaces.engine;
