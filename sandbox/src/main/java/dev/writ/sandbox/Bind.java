package dev.writ.sandbox;

import java.nio.file.Path;

/**
 * A file or directory of the host that a command can read.
 *
 * @param source absolute, on the host
 * @param target absolute, in the sandbox; must not hide what the profile provides
 */
public record Bind(Path source, String target) {}
