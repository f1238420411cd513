/** Makes the surfaces that a configuration names. */
package dev.writ.surfaces.seed;
