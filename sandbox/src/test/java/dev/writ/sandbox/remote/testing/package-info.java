/** Another host for tests: a real service behind TLS. */
package dev.writ.sandbox.remote.testing;
