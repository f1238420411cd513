package dev.writ.sandbox;

import java.nio.file.Path;

/**
 * A file or directory of the host that a command sees read-only.
 *
 * @param source absolute, on the host
 * @param target absolute, in the sandbox; not over what the profile brings
 */
public record Bind(Path source, String target) {}
