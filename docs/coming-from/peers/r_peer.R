# python -c "from common import X, y; X.assign(y=y).to_csv('diabetes.csv', index=False)"; Rscript r_peer.R; the table is not kept.
library(randomForest)

data <- read.csv("diabetes.csv")
X <- data[names(data) != "y"]
set.seed(0)
forest <- randomForest(X, data$y, ntree = 20, maxnodes = 16)

png("../../images/beside_average_r.png", width = 416, height = 296, type = "cairo", pointsize = 11)
found <- partialPlot(forest, X, bmi)
invisible(dev.off())

grid <- c(20, 24, 28, 32, 36)
asked <- sapply(grid, function(at) { moved <- X; moved$bmi <- at; mean(predict(forest, moved)) })
trees <- lapply(1:20, function(k) {
  tree <- getTree(forest, k)
  list(left = tree[, 1], right = tree[, 2], column = tree[, 3], split = tree[, 4], value = tree[, 6])
})
versions <- list(R = paste(R.version$major, R.version$minor, sep = "."), randomForest = as.character(packageVersion("randomForest")))
kept <- list(versions = versions, date = as.character(Sys.Date()), grid = grid, pd = asked,
             plot_at = found$x, plot = found$y, trees = trees)
writeLines(jsonlite::toJSON(kept, auto_unbox = TRUE, digits = NA), "r_peer.json")
