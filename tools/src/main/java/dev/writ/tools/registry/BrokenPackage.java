package dev.writ.tools.registry;

import dev.writ.canonicalize.WritException;

/**
 * A registered package that cannot be read.
 *
 * @param name of its directory
 * @param version of its directory
 * @param why what is wrong with it
 */
public record BrokenPackage(String name, String version, WritException why) {}
