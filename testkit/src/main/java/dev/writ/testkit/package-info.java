/**
 * For tests of programs that use Writ: a JUnit 5 extension that gives each test an installation in
 * memory, a clock that the test moves, and tools that do what the test says. Part of the public
 * API.
 */
package dev.writ.testkit;
