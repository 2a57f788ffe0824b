// Was this process started by an MPI launcher (mpirun, srun), with others beside it? Read from the
// environment: OMPI_COMM_WORLD_SIZE (Open MPI), PMI_SIZE (MPICH, srun), PMIX_RANK (srun). Not from
// SLURM_*: sbatch sets those for plain commands too.
#pragma once

namespace heed {

// The number of processes; 0: no launcher; -1: as many as MPI will say.
int launched_ranks();

}  // namespace heed
