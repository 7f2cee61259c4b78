# irace.R FILE RACES BLOCKS SETTINGS TRIALS: run irace once for each race of FILE, and print its choice (from 0).
# FILE holds doubles, races by blocks by settings, the last index changing first. Higher is better; irace minimises.
suppressMessages(library(irace))

arguments <- commandArgs(trailingOnly = TRUE)
sizes <- as.integer(arguments[-1])
n_races <- sizes[1]
n_blocks <- sizes[2]
n_settings <- sizes[3]
values <- array(readBin(arguments[1], "double", prod(sizes[1:3])), c(n_settings, n_blocks, n_races))
categories <- paste(seq_len(n_settings) - 1, collapse = ",")
parameters <- readParameters(text = paste0("setting \"\" c (", categories, ")"))

for (race in seq_len(n_races)) {
  measure <- function(experiment, scenario) {
    setting <- as.integer(experiment$configuration$setting) + 1
    list(cost = -values[setting, (experiment$id.instance - 1) %% n_blocks + 1, race])
  }
  scenario <- list(
    targetRunner = measure, instances = seq_len(n_blocks), sampleInstances = FALSE, deterministic = TRUE,
    maxExperiments = sizes[4], seed = race, logFile = "", debugLevel = 0
  )
  invisible(capture.output(best <- irace(scenario = scenario, parameters = parameters)))
  cat(as.character(best$setting[1]), "\n")
}
