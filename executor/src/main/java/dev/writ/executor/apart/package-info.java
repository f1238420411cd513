/** The messages between a guardian and an executor in processes of their own (spec/apart.md). */
package dev.writ.executor.apart;
