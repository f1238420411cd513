package dev.writ.sandbox.workspace;

/**
 * What a workspace holds at one place.
 *
 * @param kind as {@code find -type} writes it: f, d, l, p (FIFO), s (socket), or c for a device
 * @param size of a regular file in bytes, else 0
 * @param name below the workspace, the parts separated by {@code /}; bytes that are no UTF-8 are
 *     U+FFFD, so that it is for looking, not for opening
 */
public record TreeEntry(char kind, long size, String name) {}
