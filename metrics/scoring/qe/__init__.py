"""Quality estimation without references: predict the rating of an output from its source alone.

An `Instance` is a source, an output and its rating. `train` learns from instances, `cross_validated` predicts each
instance by models that were trained without it:

    options = QualityOptions(plan="S2", seed=1)              # metrics.scoring.qe.options
    model = train(instances, options, progress=report, checkpoint=Path("run.npz"))    # metrics.scoring.qe.training
    model.predict(sources, outputs)                          # (n,) ratings, rounded and clipped as in training
    result = cross_validated(instances, options, folds=5, seeds=(1, 2, 3, 4, 5), progress=report, checkpoint=folder)
    result.values, result.raw                                # (seeds, n); pooled over folds
    result.fold                                              # (n,) in which fold each instance was tested

- ``progress`` is called with a `Step` after each pass over the data, and every few seconds within one. It
  may raise to stop a training.
- ``checkpoint`` is a file for `train`, a folder for `cross_validated`: the same call again goes on from there, with the
  same result. A checkpoint of other instances or options is not used.
- The model is a `QualityEstimator` (metrics.scoring.qe.model), of kind ``quality`` in `metrics.scoring.models.kinds`:
  ``save``, ``load``, ``digest`` and ``facts`` as every model, and ``has_seen(sources, outputs)``.
- `unavailable` (metrics.scoring.qe.network) says why no network can run here; empty if it can. The estimator "ridge"
  runs everywhere.

References
----------
Dušek, Novikova and Rieser: Referenceless quality estimation for natural language generation. LGNL 2017.
"""
